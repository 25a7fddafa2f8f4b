CREATE PROCEDURE tpcc_customer(p_w INT, p_d INT, p_name VARCHAR(16), OUT p_c INT)
BEGIN
  DECLARE v_middle INT;
  SELECT GREATEST(COUNT(*) - 1, 0) DIV 2 INTO v_middle FROM customer
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name;
  SELECT c_id INTO p_c FROM customer
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name ORDER BY c_first LIMIT v_middle, 1;
END

CREATE PROCEDURE tpcc_new_order(
  p_w INT, p_d INT, p_c INT, p_all_local INT, p_lines VARCHAR(225))
BEGIN
  DECLARE v_order, v_count, v_line, v_item, v_supply, v_quantity, v_held INT;
  DECLARE v_tax, v_discount DECIMAL(4,4);
  DECLARE v_price DECIMAL(5,2);
  DECLARE v_info CHAR(24);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_count = CHAR_LENGTH(p_lines) DIV 15, v_line = 1;
  START TRANSACTION;
  SELECT w_tax INTO v_tax FROM warehouse WHERE w_id = p_w;
  SELECT c_discount INTO v_discount FROM customer
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  SELECT d_next_o_id, d_tax INTO v_order, v_tax FROM district
    WHERE d_w_id = p_w AND d_id = p_d{lock};
  UPDATE district SET d_next_o_id = v_order + 1 WHERE d_w_id = p_w AND d_id = p_d;
  INSERT INTO orders
    (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (v_order, p_d, p_w, p_c, CURRENT_TIMESTAMP, NULL, v_count, p_all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_order, p_d, p_w);
  each_line: WHILE v_line <= v_count DO
    SET v_item = CAST(SUBSTRING(p_lines, 15 * v_line - 14, 7) AS SIGNED),
      v_supply = CAST(SUBSTRING(p_lines, 15 * v_line - 7, 6) AS SIGNED),
      v_quantity = CAST(SUBSTRING(p_lines, 15 * v_line - 1, 2) AS SIGNED),
      v_price = NULL, v_held = NULL;
    SELECT i_price INTO v_price FROM item WHERE i_id = v_item;
    IF v_price IS NULL THEN
      LEAVE each_line;
    END IF;
    SELECT s_quantity, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
      WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07
      WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
      INTO v_held, v_info FROM stock WHERE s_w_id = v_supply AND s_i_id = v_item{lock};
    UPDATE stock SET s_quantity = v_held - v_quantity + IF(v_held >= v_quantity + 10, 0, 91),
      s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + (v_supply <> p_w)
      WHERE s_w_id = v_supply AND s_i_id = v_item;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
      ol_quantity, ol_amount, ol_dist_info)
      VALUES (v_order, p_d, p_w, v_line, v_item, v_supply, v_quantity, v_price * v_quantity, v_info);
    SET v_line = v_line + 1;
  END WHILE;
  IF v_line > v_count THEN
    COMMIT;
  ELSE
    ROLLBACK;
  END IF;
  SELECT v_line > v_count;
END

CREATE PROCEDURE tpcc_payment(
  p_w INT, p_d INT, p_cw INT, p_cd INT, p_c INT, p_name VARCHAR(16), p_amount DECIMAL(12,2))
BEGIN
  DECLARE v_c, v_payments INT;
  DECLARE v_balance, v_paid DECIMAL(12,2);
  DECLARE v_credit CHAR(2);
  DECLARE v_warehouse, v_district VARCHAR(10);
  DECLARE v_data VARCHAR(500);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w;
  SELECT w_name INTO v_warehouse FROM warehouse WHERE w_id = p_w;
  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d;
  SELECT d_name INTO v_district FROM district WHERE d_w_id = p_w AND d_id = p_d;
  IF p_name IS NULL THEN
    SET v_c = p_c;
  ELSE
    CALL tpcc_customer(p_cw, p_cd, p_name, v_c);
  END IF;
  SELECT c_balance, c_ytd_payment, c_payment_cnt, c_credit
    INTO v_balance, v_paid, v_payments, v_credit FROM customer
    WHERE c_w_id = p_cw AND c_d_id = p_cd AND c_id = v_c{lock};
  IF v_credit = 'BC' THEN
    SELECT c_data INTO v_data FROM customer
      WHERE c_w_id = p_cw AND c_d_id = p_cd AND c_id = v_c{lock};
    UPDATE customer SET c_balance = v_balance - p_amount, c_ytd_payment = v_paid + p_amount,
      c_payment_cnt = v_payments + 1,
      c_data = LEFT(CONCAT_WS(' ', v_c, p_cd, p_cw, p_d, p_w, p_amount, v_data), 500)
      WHERE c_w_id = p_cw AND c_d_id = p_cd AND c_id = v_c;
  ELSE
    UPDATE customer SET c_balance = v_balance - p_amount, c_ytd_payment = v_paid + p_amount,
      c_payment_cnt = v_payments + 1
      WHERE c_w_id = p_cw AND c_d_id = p_cd AND c_id = v_c;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (v_c, p_cd, p_cw, p_d, p_w, CURRENT_TIMESTAMP, p_amount,
      CONCAT(v_warehouse, '    ', v_district));
  COMMIT;
END

CREATE PROCEDURE tpcc_order_status(p_w INT, p_d INT, p_c INT, p_name VARCHAR(16))
BEGIN
  DECLARE v_c, v_order INT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  IF p_name IS NULL THEN
    SET v_c = p_c;
  ELSE
    CALL tpcc_customer(p_w, p_d, p_name, v_c);
  END IF;
  SELECT c_balance, c_first, c_middle, c_last FROM customer
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c;
  SELECT o_id INTO v_order FROM orders
    WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c ORDER BY o_id DESC LIMIT 1;
  SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_order;
  COMMIT;
END

CREATE PROCEDURE tpcc_delivery(p_w INT, p_carrier INT)
BEGIN
  DECLARE v_order, v_c INT;
  DECLARE v_d INT DEFAULT 1;
  DECLARE v_delivered INT DEFAULT 0;
  DECLARE v_amount DECIMAL(12,2);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  WHILE v_d <= 10 DO
    SET v_order = NULL;
    SELECT no_o_id INTO v_order FROM new_order
      WHERE no_w_id = p_w AND no_d_id = v_d ORDER BY no_o_id LIMIT 1{lock};
    IF v_order IS NOT NULL THEN
      DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_order;
      IF ROW_COUNT() = 0 THEN
        SIGNAL SQLSTATE '40001'
          SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'another delivery has taken the order';
      END IF;
      SELECT o_c_id INTO v_c FROM orders
        WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_order{lock};
      UPDATE orders SET o_carrier_id = p_carrier
        WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_order;
      UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
        WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_order;
      SELECT SUM(ol_amount) INTO v_amount FROM order_line
        WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_order;
      UPDATE customer SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c;
      SET v_delivered = v_delivered + 1;
    END IF;
    SET v_d = v_d + 1;
  END WHILE;
  COMMIT;
  SELECT v_delivered;
END

CREATE PROCEDURE tpcc_stock_level(p_w INT, p_d INT, p_threshold INT)
BEGIN
  DECLARE v_next INT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w AND d_id = p_d;
  SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20
    AND s_w_id = p_w AND s_i_id = ol_i_id AND s_quantity < p_threshold;
  COMMIT;
END
